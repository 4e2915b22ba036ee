"""What treadle.torch.nn and PyTorch must agree on: expressions that both evaluate (torch_nn_side.py).

Names: torch, nn, F; `r(…)` a float64 tensor of fixed numbers that requires gradients, `c(…)` one that does not, `k(n, …)`
integers below n, `b(…)` bools; `m(module)` the module in float64 with fixed numbers as its parameters, `e(module)` the same
in evaluation. Results, gradients of all `r` and parameters, and the modules' buffers are compared.

`{}` in an expression stands for each of the words behind it.
"""

CASES = [
    # ---- functions of elements and rows ----
    ("F.{}(r(3, 4) * 3)", "relu sigmoid tanh relu6 hardtanh leaky_relu elu selu celu silu mish hardswish gelu softplus "
     "logsigmoid softsign tanhshrink hardshrink softshrink glu"),
    ("F.{}(r(3, 4), dim=1)", "softmax log_softmax softmin normalize"),
    ("F.{}(r(3, 4), 0)", "softmax log_softmax"),
    ("F.gelu(r(3, 4), approximate='tanh')",),
    ("F.threshold(r(3, 4), 0.3, -1.0)",),
    ("F.prelu(r(3, 4), r(4))",),
    ("F.prelu(r(3, 4), r(1))",),
    ("F.softplus(r(3, 4), beta=2.0, threshold=1.5)",),
    ("F.{}(r(3, 4).clone(), inplace=True)", "relu leaky_relu elu hardtanh silu"),
    ("F.dropout(r(3, 4), 0.5, training=False)",),
    ("F.dropout(r(3, 4), 1.0)",),
    ("F.alpha_dropout(r(3, 4), 0.5, training=False)",),
    ("F.normalize(r(3, 4), p=3, dim=0)",),
    # ---- losses ----
    ("F.{}(r(3, 4), r(3, 4))", "mse_loss l1_loss smooth_l1_loss huber_loss cosine_similarity pairwise_distance"),
    ("F.{}(r(3, 4), c(3, 4), reduction='sum')", "mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss "
     "poisson_nll_loss kl_div binary_cross_entropy_with_logits"),
    ("F.{}(r(3, 4), c(3, 4), reduction='none')", "mse_loss soft_margin_loss poisson_nll_loss kl_div"),
    ("F.smooth_l1_loss(r(3, 4), r(3, 4), beta=0.3)",),
    ("F.huber_loss(r(3, 4), r(3, 4), delta=0.3)",),
    ("F.kl_div(r(3, 4), r(3, 4).exp())",),
    ("F.kl_div(r(3, 4), r(3, 4), log_target=True, reduction='batchmean')",),
    ("F.binary_cross_entropy(r(3, 4) * 0.3 + 0.5, r(3, 4) * 0.3 + 0.5)",),
    ("F.binary_cross_entropy(r(3, 4) * 0.3 + 0.5, r(3, 4) * 0.3 + 0.5, weight=c(4), reduction='none')",),
    ("F.binary_cross_entropy_with_logits(r(3, 4) * 9, c(3, 4), pos_weight=c(4).exp())",),
    ("F.poisson_nll_loss(r(3, 4).exp(), c(3, 4).exp() * 3, log_input=False, full=True)",),
    ("F.gaussian_nll_loss(r(3, 4), r(3, 4), r(3, 4).exp(), full=True)",),
    ("F.hinge_embedding_loss(r(3, 4), torch.sign(c(3, 4)))",),
    ("F.margin_ranking_loss(r(4), r(4), torch.sign(c(4)), margin=0.1)",),
    ("F.cosine_embedding_loss(r(3, 4), r(3, 4), torch.sign(c(3)), margin=0.1)",),
    ("F.triplet_margin_loss(r(3, 4), r(3, 4), r(3, 4), margin=2.0)",),
    ("F.triplet_margin_loss(r(3, 4), r(3, 4), r(3, 4), p=3, swap=True, margin=3.0)",),
    ("F.multilabel_soft_margin_loss(r(3, 4), c(3, 4))",),
    ("F.pairwise_distance(r(3, 4), r(3, 4), p=1, keepdim=True)",),
    ("F.cross_entropy(r(3, 4), k(4, 3), {})", "reduction='mean' reduction='sum' reduction='none' weight=c(4).exp() "
     "label_smoothing=0.1 ignore_index=2 weight=c(4).exp(),label_smoothing=0.2 ignore_index=2,label_smoothing=0.1 "
     "weight=c(4).exp(),reduction='none',ignore_index=1 weight=c(4).exp(),reduction='sum',label_smoothing=0.3"),
    ("F.nll_loss(r(3, 4), k(4, 3), {})", "reduction='mean' reduction='none' weight=c(4) ignore_index=1 "
     "weight=c(4),ignore_index=1,reduction='sum'"),
    ("F.cross_entropy(r(2, 3, 2, 2), k(3, 2, 2, 2), {})", "reduction='mean' weight=c(3).exp() label_smoothing=0.1"),
    ("F.cross_entropy(r(3, 4), r(3, 4).softmax(1), {})", "reduction='mean' reduction='none' weight=c(4) label_smoothing=0.1"),
    ("F.cross_entropy(r(4), k(4), {})", "reduction='mean' reduction='none' label_smoothing=0.1"),
    ("F.cross_entropy(r(3, 4), k(4, 3) + 2)",),
    ("F.cross_entropy(r(3, 4), k(4, 2))",),
    ("F.multi_margin_loss(r(3, 4), k(4, 3), {})", "reduction='mean' p=2,margin=0.5 weight=c(4) reduction='none'"),
    ("F.ctc_loss(r(6, 2, 4).log_softmax(2), k(3, 2, 3) + 1, (6, 5), (3, 2), {})", "blank=0 reduction='none' reduction='sum' "
     "zero_infinity=True"),
    ("F.ctc_loss(r(4, 3, 4).log_softmax(2), k(3, 3, 3) + 1, {})", "(4,2,4),(3,2,0),reduction='none' "
     "(4,2,4),(3,3,0),reduction='none',zero_infinity=True torch.tensor([4,3,1]),torch.tensor([2,1,1]) (4,4),(1,1,1) (4,4,5),(1,1,1) "
     "(4,4,4),(1,1,4) (4,4,4),(1,1),0 (4,4,4),(1,1,1),7"),
    ("F.ctc_loss(r(6, 2, 4).log_softmax(2), {}, (6, 6), (3, 2))", "k(3,5)+1 torch.tensor([2,2,2,1,1]) torch.tensor([[1,1,1],[2,3,-1]])"),
    ("F.ctc_loss(r(6, 2, 4).log_softmax(2), k(3, 2, 3), (6, 5), (3, 2), 3)",),
    ("F.ctc_loss(r(6, 4).log_softmax(1), torch.tensor([1, 2]), (6,), (2,), {})", "reduction='mean' reduction='none'"),
    ("nn.CTCLoss(blank=1, reduction='sum')(r(6, 2, 4).log_softmax(2), torch.tensor([0, 2, 3, 3]), (6, 4), (2, 2))",),
    ("F.multilabel_margin_loss(r(3, 4), torch.tensor([[1, 2, -1, 0], [0, -1, 3, 1], [-1, 1, 2, 3]]), {})", "reduction='mean' "
     "reduction='none'"),
    ("nn.MultiLabelMarginLoss()(r(4), torch.tensor([3, 0, -1, 1]))",),
    ("F.triplet_margin_with_distance_loss(r(3, 4), r(3, 4), r(3, 4), {})", "margin=2.0 swap=True,margin=3.0,reduction='sum' "
     "distance_function=lambda_d"),
    # ---- windows ----
    ("F.conv1d(r(2, 4, 7), r(6, 4, 3), r(6), {})", "stride=1 padding=1 stride=2 stride=2,padding=1 dilation=2 padding='same'"),
    ("F.conv2d(r(2, 4, 5, 6), r(4, 4, 3, 2), r(4), {})", "stride=1 padding=1 stride=2,padding=(1,0) dilation=(1,2) padding='same'"),
    ("F.conv2d(r(2, 4, 5, 6), r(6, 2, 2, 2), None, {})", "groups=2 groups=2,stride=2,padding=1"),
    ("F.conv2d(r(2, 4, 5, 6), r(4, 1, 3, 3), r(4), groups=4, padding=1)",),
    ("F.conv2d(r(4, 5, 6), r(3, 4, 1, 1), r(3))",),
    ("F.conv3d(r(1, 2, 3, 4, 3), r(3, 2, 2, 2, 2), r(3), stride=(1, 2, 1))",),
    ("F.conv_transpose1d(r(2, 4, 5), r(4, 3, 3), r(3), {})", "stride=1 stride=2 stride=2,padding=1,output_padding=1 dilation=2"),
    ("F.conv_transpose2d(r(1, 4, 3, 4), r(4, 3, 3, 2), r(3), {})", "stride=1 padding=1 stride=2,padding=1,output_padding=1"),
    ("F.conv_transpose2d(r(1, 4, 3, 4), r(4, 3, 2, 2), r(6), groups=2, stride=2)",),
    ("F.conv_transpose3d(r(1, 2, 2, 2, 2), r(2, 2, 2, 2, 2), None, stride=2)",),
    ("F.conv2d(r(2, 4, 5, 6), r(4, 3, 3, 2))",),
    ("F.conv2d(r(2, 4, 2, 2), r(4, 4, 3, 3))",),
    ("twice(lambda x, w: F.conv2d(x, w, padding=1), r(1, 2, 4, 4), r(3, 2, 3, 3))",),
    ("twice(lambda x, w: F.conv2d(x, w, stride=2), r(1, 2, 5, 5), r(3, 2, 2, 2))",),
    ("twice(lambda x: F.max_pool2d(x, 2), r(1, 2, 4, 4))",),
    ("twice(lambda x: F.avg_pool2d(x, 3, 2, 1), r(1, 2, 4, 4))",),
    ("twice(lambda x: F.layer_norm(x, (4,)), r(2, 4))",),
    ("twice(lambda x: F.cross_entropy(x, k(4, 3)), r(3, 4))",),
    ("F.max_pool1d(r(2, 3, 9), 3, {})", "stride=2 stride=1,padding=1 stride=2,ceil_mode=True dilation=2 return_indices=True"),
    ("F.max_pool2d(r(2, 3, 5, 6), {})", "2 3,2 2,1 (2,3),2,(1,1) 2,2,0,1,True 2,return_indices=True"),
    ("F.max_pool3d(r(1, 2, 4, 4, 3), 2)",),
    ("F.avg_pool1d(r(2, 3, 9), 3, {})", "stride=2 stride=1,padding=1 stride=2,ceil_mode=True"),
    ("F.avg_pool2d(r(2, 3, 5, 6), {})", "2 3,2 3,2,1 3,2,1,True,False (2,3),2,(1,1) 2,2,0,True 2,divisor_override=3"),
    ("F.avg_pool3d(r(1, 2, 4, 4, 3), 2)",),
    ("F.lp_pool2d(r(1, 2, 4, 4).exp(), 2, 2)",),
    ("F.adaptive_avg_pool2d(r(1, 2, 5, 6), {})", "1 2 (2,3) (None,4)"),
    ("F.adaptive_max_pool2d(r(1, 2, 5, 6), {})", "1 2 (2,3)"),
    ("F.adaptive_avg_pool1d(r(2, 7), 3)",),
    ("F.interpolate(r(1, 2, 3, 4), scale_factor=2, mode={!r})", "nearest bilinear area"),
    ("F.interpolate(r(1, 2, 3, 4), size=(5, 3), mode={!r})", "nearest bilinear area"),
    ("F.interpolate(r(1, 2, 3, 4), size=(5, 6), mode='bilinear', align_corners=True)",),
    ("F.interpolate(r(1, 2, 4), size=7, mode='linear')",),
    ("F.pad(r(2, 3, 4), (1, 2), mode={!r})", "constant reflect replicate circular"),
    ("F.pad(r(2, 3, 4), {})", "(1,-1,0,2) (-1,-1) (1,1,1,1,1,1),value=2.0"),
    ("F.unfold(r(2, 3, 4, 5), (2, 3), stride=2, padding=1)",),
    ("F.fold(r(2, 12, 12), (4, 5), (2, 2))",),
    ("F.pixel_shuffle(r(1, 8, 2, 3), 2)",),
    ("F.pixel_unshuffle(r(1, 2, 4, 6), 2)",),
    ("F.grid_sample(r(2, 3, 4, 5), r(2, 3, 2, 2) * 1.4, {})", "align_corners=False align_corners=True padding_mode='border',align_corners=False "
     "padding_mode='reflection',align_corners=False padding_mode='reflection',align_corners=True"),
    ("F.grid_sample(r(2, 3, 4, 5), c(2, 3, 2, 2) * 0.9, mode='nearest', {})", "align_corners=False padding_mode='border',align_corners=True"),
    ("F.grid_sample(r(1, 2, 3, 4, 3), r(1, 2, 2, 3, 3) * 1.2, align_corners={})", "False True"),
    ("F.grid_sample(r(2, 1, 4, 5), F.affine_grid(r(2, 2, 3), (2, 1, 3, 4), False), align_corners=False)",),
    ("F.affine_grid(r(2, 2, 3), (2, 1, 3, 4), align_corners={})", "False True"),
    ("F.affine_grid(r(1, 3, 4), (1, 1, 2, 1, 3), align_corners=False)",),
    ("F.max_unpool2d(*F.max_pool2d(r(1, 2, 5, 6), 2, return_indices=True), 2{})", ", ,output_size=(5,6) ,output_size=(9,9)"),
    ("nn.MaxUnpool1d(3, 2, 1)(*nn.MaxPool1d(3, 2, 1, return_indices=True)(r(2, 3, 9)))",),
    ("F.lp_pool3d(r(1, 2, 4, 4, 4).exp(), 2, 2)",),
    ("nn.LPPool2d(3, 2, stride=1)(r(1, 2, 4, 4).exp())",),
    ("nn.UpsamplingBilinear2d({})(r(1, 2, 3, 4))", "scale_factor=2 size=(5,3)"),
    ("nn.UpsamplingNearest2d(scale_factor=2)(r(1, 2, 3, 4))",),
    ("nn.ChannelShuffle(2)(r(1, 6, 2, 2))",),
    # ---- norms, products, attention ----
    ("F.batch_norm(r(3, 2, 4), None, None, r(2), r(2), training=True)",),
    ("F.batch_norm(r(3, 2, 4), c(2), c(2).exp(), r(2), r(2))",),
    ("F.batch_norm(r(1, 2), None, None, training=True)",),
    ("F.layer_norm(r(2, 3, 4), (3, 4), r(3, 4), r(3, 4))",),
    ("F.layer_norm(r(2, 3, 4), (5,))",),
    ("F.group_norm(r(2, 6, 3), 3, r(6), r(6))",),
    ("F.instance_norm(r(2, 3, 4), weight=r(3), bias=r(3))",),
    ("F.rms_norm(r(2, 4), (4,), r(4))",),
    ("F.local_response_norm(r(2, 7, 3), 4)",),
    ("F.linear(r(3, 4), r(5, 4), r(5))",),
    ("F.linear(r(2, 3, 4), r(5, 4))",),
    ("F.linear(r(4), r(5, 4), r(5))",),
    ("F.bilinear(r(3, 4), r(3, 2), r(5, 4, 2), r(5))",),
    ("F.embedding(k(5, 2, 3), r(5, 2), padding_idx=2)",),
    ("F.embedding(k(5, 2, 3), r(5, 2), scale_grad_by_freq=True)",),
    ("F.embedding_bag(k(5, 3, 4), r(5, 2), mode={!r})", "sum mean max least"),
    ("F.embedding_bag(k(5, 7), r(5, 2), torch.tensor([0, 2, 2, 5]), {})", "mode='sum' mode='mean' mode='max' padding_idx=1 "
     "mode='sum',padding_idx=-4 mode='max',padding_idx=1 scale_grad_by_freq=True,mode='sum' include_last_offset=True "
     "mode='sum',per_sample_weights=r(7) mode='mean',per_sample_weights=r(7) mode='sum',per_sample_weights=r(6)"),
    ("F.embedding_bag(k(5, 2, 3), r(5, 2), mode='sum', per_sample_weights=r(2, 3))",),
    ("F.embedding_bag({})", "k(5,7),r(5,2) k(5,1,2,2),r(5,2)"),
    ("m(nn.EmbeddingBag(5, 3, mode={!r}, padding_idx=1))(k(5, 2, 4))", "sum mean max"),
    ("m(nn.EmbeddingBag(5, 3, max_norm=0.5))(k(4, 2, 2))",),
    ("F.one_hot(k(5, 2, 3))",),
    ("F.one_hot(k(5, 2, 3), 7)",),
    ("F.scaled_dot_product_attention(r(2, 3, 4), r(2, 5, 4), r(2, 5, 2))",),
    ("F.scaled_dot_product_attention(r(2, 4, 4), r(2, 4, 4), r(2, 4, 2), is_causal=True)",),
    ("F.scaled_dot_product_attention(r(2, 4, 4), r(2, 4, 4), r(2, 4, 2), attn_mask=c(4, 4), scale=0.3)",),
    # ---- modules ----
    ("m(nn.Linear(4, 3{}))(r(2, 4))", ", ,bias=False"),
    ("m(nn.Bilinear(4, 2, 3))(r(2, 4), r(2, 2))",),
    ("m(nn.Embedding(5, 3, padding_idx=1))(k(5, 2, 2))",),
    ("m(nn.PReLU(4))(r(2, 4))",),
    ("nn.{}()(r(3, 4))", "ReLU GELU Sigmoid Tanh Softplus ELU SiLU Mish LeakyReLU Hardtanh Identity Flatten GLU LogSigmoid"),
    ("nn.{}(1)(r(3, 4))", "Softmax LogSoftmax Softmin"),
    ("nn.{}()(r(3, 4), c(3, 4))", "MSELoss L1Loss SmoothL1Loss HuberLoss BCEWithLogitsLoss KLDivLoss SoftMarginLoss"),
    ("nn.CrossEntropyLoss(weight=c(4).exp(), label_smoothing=0.1)(r(3, 4), k(4, 3))",),
    ("m(nn.Conv2d(4, 6, 2, stride=2, padding=1, groups=2))(r(1, 4, 4, 4))",),
    ("m(nn.Conv1d(2, 3, 3, padding=1, padding_mode={!r}))(r(1, 2, 5))", "zeros reflect replicate circular"),
    ("m(nn.ConvTranspose2d(2, 3, 3, stride=2))(r(1, 2, 3, 3), output_size=(8, 7))",),
    ("m(nn.BatchNorm1d(3{}))(r(4, 3))", ", ,affine=False ,momentum=None ,track_running_stats=False ,bias=False"),
    ("e(nn.BatchNorm2d(3))(r(2, 3, 2, 2))",),
    ("m(nn.InstanceNorm1d(3, affine=True, track_running_stats=True))(r(2, 3, 4))",),
    ("m(nn.LayerNorm(4{}))(r(3, 4))", ", ,bias=False ,elementwise_affine=False"),
    ("m(nn.GroupNorm(2, 4))(r(3, 4, 2))",),
    ("m(nn.RMSNorm(4))(r(3, 4))",),
    ("m(nn.{}(4, 3))(r(2, 4))", "RNNCell GRUCell LSTMCell"),
    ("m(nn.{}(4, 3, bias=False))(r(2, 4), r(2, 3))", "RNNCell GRUCell"),
    ("m(nn.LSTMCell(4, 3))(r(2, 4), (r(2, 3), r(2, 3)))",),
    ("m(nn.{}(4, 3))(r(5, 2, 4))", "RNN GRU LSTM"),
    ("m(nn.{}(4, 3, 2, batch_first=True, bidirectional=True))(r(2, 5, 4))", "RNN GRU LSTM"),
    ("m(nn.RNN(4, 3, nonlinearity='relu'))(r(5, 4))",),
    ("m(nn.LSTM(4, 5, proj_size=3))(r(5, 2, 4){})", ", ,(r(1,2,3),r(1,2,5))"),
    ("m(nn.LSTM(4, 5, 2, proj_size=2, bidirectional=True, batch_first=True, bias=False))(r(2, 5, 4))",),
    ("m(nn.LSTM(4, 5, proj_size=3))(r(5, 4), (r(1, 3), r(1, 5)))",),
    ("m(nn.LSTM(4, 3))(r(5, 2, 4), {})", "(r(1,2,3),r(1,2,4)) (r(1,3,3),r(1,2,3)) (r(1,3),r(1,3))"),
    ("m(nn.GRU(4, 3, 2))(r(5, 2, 4), {})", "r(2,2,3) r(1,2,3) r(2,3)"),
    ("m(nn.{})(packed(r(4, 3, 4), [2, 4, 1]))", "RNN(4,3) GRU(4,3) LSTM(4,3) GRU(4,3,2,bidirectional=True) LSTM(4,5,2,proj_size=2) "
     "LSTM(4,3,2,bias=False,bidirectional=True)"),
    ("m(nn.GRU(4, 3, bidirectional=True))(packed(r(4, 3, 4), [2, 4, 1]), r(2, 3, 3))",),
    ("m(nn.LSTM(4, 3))(packed(r(4, 3, 4), [4, 2, 2], enforce_sorted=True), (r(1, 3, 3), r(1, 3, 3)))",),
    ("nn.utils.rnn.pad_packed_sequence(m(nn.LSTM(4, 3, bidirectional=True))(packed(r(3, 2, 4), [2, 3]))[0], True)",),
    ("packed(r(4, 3), {})", "[2,3,1] [1,4,0] [2,1],enforce_sorted=True [2,3,1],enforce_sorted=True"),
    ("packed(r(3, 4, 2), [3, 1, 4], batch_first=True)",),
    ("nn.utils.rnn.pad_packed_sequence(packed(r(4, 3), [2, 3, 1]), {})", "False True,-1.5 total_length=5 total_length=2"),
    ("list(nn.utils.rnn.unpack_sequence(nn.utils.rnn.pack_sequence([r(3, 2), r(1, 2), r(4, 2)], enforce_sorted=False)))",),
    ("nn.utils.rnn.pad_sequence([r(3, 2), r(1, 2)], {})", "True False,7.0 padding_side='left'"),
    ("nn.{}", "LSTM(4,3,proj_size=2) LSTM(4,3,proj_size=3) GRU(4,3,proj_size=1) LSTM(4,3,proj_size=-1) RNN(4,3,dropout=2.0) "
     "GRU(4,0) GRU(4,2.5) LSTM(4,3,0)"),
    ("m(nn.MultiheadAttention(4, 2))(r(3, 2, 4), r(5, 2, 4), r(5, 2, 4))",),
    ("m(nn.MultiheadAttention(4, 2, batch_first=True, kdim=3, vdim=2))(r(2, 3, 4), r(2, 5, 3), r(2, 5, 2), b(2, 5))",),
    ("same(m(nn.MultiheadAttention(4, 2)), r(3, 4), attn_mask=torch.triu(c(3, 3), 1))",),
    ("m(nn.TransformerEncoderLayer(4, 2, 6, 0.0))(r(3, 2, 4))",),
    ("m(nn.TransformerEncoderLayer(4, 2, 6, 0.0, 'gelu', norm_first=True))(r(3, 2, 4))",),
    ("m(nn.Transformer(4, 2, 1, 1, 6, 0.0))(r(3, 2, 4), r(2, 2, 4), tgt_mask=nn.Transformer.generate_square_subsequent_mask(2).double())",),
    ("m(nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)))(r(2, 4))",),
    ("m(nn.utils.weight_norm({}))(r(2, 4))", "nn.Linear(4,3) nn.Linear(4,3),dim=None nn.Linear(4,3),dim=1 nn.Linear(4,3),'bias'"),
    ("m(nn.utils.parametrizations.weight_norm({}))(r(2, 4))", "nn.Linear(4,3) nn.Linear(4,3),dim=None nn.Linear(4,3),dim=1"),
    ("m(nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 3, 2)))(r(1, 4, 5))",),
    ("m(nn.utils.parametrizations.weight_norm(nn.GRU(4, 3), 'weight_hh_l0'))(r(5, 2, 4))",),
    ("nn.utils.remove_weight_norm({})", "nn.Linear(2,3)"),
    ("nn.utils.parametrize.remove_parametrizations(nn.utils.parametrizations.weight_norm(nn.Linear(2, 3)), 'weight', False)",),
    ("list({}.state_dict())", "nn.utils.weight_norm(nn.Linear(2,3)) nn.utils.parametrizations.weight_norm(nn.Linear(2,3)) "
     "nn.utils.spectral_norm(nn.Linear(2,3)) nn.utils.parametrizations.spectral_norm(nn.Linear(2,3)) "
     "nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Linear(2,3))) "
     "nn.utils.parametrize.remove_parametrizations(nn.utils.parametrizations.spectral_norm(nn.Linear(2,3)),'weight')"),
    # ---- sparse tensors ----
    ("sp(c(4)){}", ", .coalesce()"),
    ("sp(r(4)){}", ".to_dense() .t().to_dense() .coalesce().indices() .coalesce().values() .indices() .values() .sparse_dim() "
     ".dense_dim() ._nnz() .is_coalesced() .layout .is_sparse .requires_grad "
     ".detach().to_dense() .shape .size(1)"),
    ("torch.sparse.mm(sp(r(4)), r(4, 2))",),
    ("sp(r(4)) @ r(4, 2)",),
    ("sp(r(4)) @ r(4)",),
    ("r(2, 3) @ sp(r(4))",),
    ("torch.sparse.addmm(r(3, 2), sp(r(4)), r(4, 2), alpha=2.0, beta=0.5)",),
    ("sp(r(4)).t() @ r(3, 2)",),
    ("(sp(r(4)) + sp(r(2), places=((0, 2), (3, 1)))).to_dense()",),
    ("(sp(r(4)) - sp(r(2), places=((0, 2), (3, 1)))).to_dense()",),
    ("r(3, 4) + sp(r(4))",),
    ("(sp(r(4)) * 2.5).to_dense()",),
    ("(sp(r(4)) / 2.5).to_dense()",),
    ("(sp(r(4)) * r(3, 4)).to_dense()",),
    ("(-sp(r(4))).to_dense()",),
    ("sp(c(4)).{}().to_dense()", "tanh abs sqrt relu"),
    ("sp(r(4, 2), (3, 4, 2)).to_dense()",),
    ("sp(r(4, 2), (3, 4, 2)).coalesce().values()",),
    ("torch.sparse.sum(sp(r(4)){})", ", ,[0,1]"),
    ("torch.sparse.sum(sp(r(4)), {}).to_dense()", "0 1"),
    ("torch.sparse.sum(sp(c(4)), {})", "0 1"),
    ("torch.sparse.sum(sp(c(4, 2), (3, 4, 2)), {})", "2 1 (0,2)"),
    ("torch.relu(c(3, 4)).to_sparse({})", ", 1"),
    ("torch.relu(r(3, 4)).to_sparse().to_dense()",),
    ("torch.sparse_coo_tensor({})", "torch.tensor([[0,1],[2,0]]),torch.tensor([1.0,2.0]) [[0,1],[2,0]],[3,4] [[0,1],[2,0]],[3.0,4],(4,5),dtype=torch.float64"),
    ("repr(torch.sparse_coo_tensor({}))", "[[0,1],[2,0]],[3,4] [[0,1],[2,0]],[3.0,4],(4,5) [[0,1,1]],[[3.0],[4],[5]],dtype=torch.float64"),
    # ---- texts ----
    ("nn.{}", "Linear(2,3) Linear(2,3,bias=False) Conv2d(2,4,3,padding=1,groups=2,bias=False) ConvTranspose2d(2,3,3,2,1,1) "
     "MaxPool2d(2) MaxPool2d(3,2,1) AvgPool2d(2) AvgPool1d(2) AdaptiveAvgPool2d((1,2)) BatchNorm2d(3) LayerNorm(4) "
     "GroupNorm(2,4) Embedding(3,2,padding_idx=1) EmbeddingBag(3,2,mode='max') EmbeddingBag(3,2,padding_idx=4) Embedding(3,2,max_norm=1.0) utils.parametrizations.weight_norm(nn.Linear(2,3)) CTCLoss() LPPool2d(2,3) LPPool1d(2,3,stride=1) MaxUnpool2d(2) UpsamplingNearest2d(scale_factor=2) UpsamplingBilinear2d(size=(2,3)) ChannelShuffle(2) Dropout(0.2) ReLU() ReLU(inplace=True) LeakyReLU(0.2) ELU() GELU() "
     "Softmax(dim=1) Flatten() LSTM(2,3,2,batch_first=True,bidirectional=True) GRUCell(2,3) RNNCell(2,3,nonlinearity='relu') "
     "Sequential(nn.Linear(2,3),nn.Sequential(nn.ReLU())) ModuleList([nn.ReLU(),nn.ReLU(),nn.Linear(1,1)]) "
     "ModuleDict({'a':nn.ReLU()}) ModuleList() CrossEntropyLoss() MSELoss() Unfold(2) Upsample(scale_factor=2) "
     "ZeroPad2d(1) ConstantPad1d(2,0.5) Identity() PReLU() Softplus() Hardtanh() Bilinear(2,3,4) RMSNorm(3) "
     "ParameterDict({'x':torch.zeros(2)}) ParameterList([torch.zeros(2,1)])"),
    ("list({}.state_dict())", "nn.Linear(2,3) nn.BatchNorm1d(2) nn.LSTM(2,3,2,bidirectional=True) nn.LSTM(2,3,proj_size=1,bidirectional=True) nn.MultiheadAttention(4,2) "
     "nn.Transformer(4,2,1,1,6) nn.Sequential(nn.Linear(1,1),nn.Sequential(nn.Linear(1,1))) nn.LayerNorm(2,bias=False)"),
    ("nn.Linear(2, 3).load_state_dict({})", "{} {'weight':torch.zeros(3,3),'bias':torch.zeros(3)} "
     "{'weight':torch.zeros(3,2),'bias':torch.zeros(3),'x':torch.zeros(1)} {},strict=False"),
    ("nn.Linear(2, 3).get_submodule('a')",),
    ("nn.Module()(1)",),
    ("put(nn.Linear(2, 3), 'weight', {})", "1 torch.zeros(3,2) None"),
    ("nn.Module().register_buffer('a.b', None)",),
    ("nn.Dropout(2.0)",),
    ("nn.Conv2d(3, 4, 2, groups=2)",),
    ("torch.optim.SGD([], lr=1)",),
    ("torch.optim.SGD([torch.zeros(1)], lr=-1)",),
    ("torch.optim.SGD([torch.zeros(1)], nesterov=True)",),
    ("torch.optim.Adam([torch.zeros(1)], betas=(1.0, 0.9))",),
    # ---- mixed precision: what has which dtype ----
    ("amp(lambda w: {})", "h(3,4)@w torch.mm(h(3,4),w) torch.matmul(h(4),w) h(3,4).matmul(w) torch.bmm(h(1,3,4),w[None]) torch.mv(w,h(4)) "
     "torch.dot(h(4),w[0]) torch.addmm(h(3,4),h(3,4),w) torch.einsum('ij,jk->ik',h(3,4),w) torch.inner(h(3,4),w) torch.outer(h(3),w[0]) "
     "torch.tensordot(h(3,4),w,1) F.linear(h(3,4),w) F.linear(h(3,4),w,h(4)) F.linear(c(3,4),w.double()) "
     "F.conv1d(h(1,4,5),w[:,:,None]) F.conv2d(h(1,4,2,2),w[:,:,None,None]) F.scaled_dot_product_attention(h(1,4,4),w[None],w[None]) "
     "F.prelu(h(3,4),w[0]) torch.linalg.matrix_power(w,2) torch.linalg.multi_dot([w,w,w]) torch.linalg.vecdot(w,w) F.bilinear(h(3,4),h(3,4),w[None]) "
     "w*z(4,4) w+h(4,4)@w torch.cat([h(4,4),z(4,4)]) (w.double()@w.double()) F.cross_entropy(w@h(4,4),k(4,4)) F.mse_loss(w@h(4,4),z(4,4)) "
     "(w@h(4,4)).softmax(1) (w@h(4,4)).sum() (w@h(4,4)).exp() (w@h(4,4)).prod() F.layer_norm(w@h(4,4),(4,)) (w@h(4,4))**2 "
     "F.nll_loss((w@h(4,4)).log_softmax(1),k(4,4)) F.binary_cross_entropy_with_logits(w@h(4,4),h(4,4)) torch.cdist(z(4,4),w) "
     "torch.linalg.qr(w@h(4,4))[1] torch.fft.fft(w@h(4,4)).real torch.trace(w@w) torch.linalg.norm(w@w)"),
    ("amp(lambda: {})", "nn.Linear(4,3)(h(2,4)) nn.Conv1d(4,3,2)(h(1,4,5)) nn.LayerNorm(4)(z(2,4)) nn.BatchNorm1d(4)(z(2,4)) "
     "nn.GroupNorm(2,4)(z(2,4)) nn.CrossEntropyLoss()(z(2,4),k(4,2)) nn.MSELoss()(z(2,4),z(2,4)) nn.MultiheadAttention(4,2)(h(3,4),h(3,4),h(3,4)) "
     "nn.TransformerEncoderLayer(4,2,6)(h(3,2,4)) nn.LSTM(4,3)(h(3,2,4)) nn.MaxPool3d(2)(z(1,2,2,2)) nn.Embedding(4,3)(k(4,3)) "
     "F.batch_norm(z(2,4),h(4),h(4).exp(),h(4),h(4))"),
    ("amp(lambda w: {}, 'float16')", "h(3,4)@w F.linear(h(3,4),w) F.mse_loss(w@w,w) torch.autograd.grad((w@w).sum(),w)[0]"),
    ("amp(lambda w: w @ w, 'float64')",),
    ("torch.autocast(3)",),
    ("scaled([1.5, 2.5, inf, 1.0, -inf, 0.5], dict({}))", "init_scale=8.0 growth_interval=2,init_scale=4.0 backoff_factor=0.25,growth_factor=3.0,growth_interval=1 "
     "enabled=False growth_factor=0.5 backoff_factor=1.5"),
    # ---- optimizers: parameters after some steps, and learning rates ----
    ("trained('SGD', dict({}))", "lr=0.1 momentum=0.9 momentum=0.9,nesterov=True,weight_decay=0.1 momentum=0.5,dampening=0.2 "
     "maximize=True"),
    ("trained('Adam', dict({}))", "lr=0.1 weight_decay=0.1 amsgrad=True maximize=True,betas=(0.5,0.9)"),
    ("trained('AdamW', dict({}))", "lr=0.1 weight_decay=0.3,amsgrad=True"),
    ("trained({!r}, dict(weight_decay=0.1))", "NAdam RAdam Adamax Adagrad Adadelta RMSprop ASGD"),
    ("trained('RAdam', dict(betas=(0.5, 0.7)))",),
    ("trained('NAdam', dict(weight_decay=0.1, decoupled_weight_decay=True))",),
    ("trained('Adagrad', dict(lr_decay=0.1, initial_accumulator_value=0.3))",),
    ("trained('RMSprop', dict(centered=True, momentum=0.5))",),
    ("trained('ASGD', dict(t0=2))",),
    ("trained('Rprop', dict())",),
    ("trained('LBFGS', dict({}), steps=2)", "lr=1 lr=0.5,max_iter=5,history_size=3 line_search_fn='strong_wolfe'"),
    ("rates('{})", "StepLR',step_size=3 MultiStepLR',milestones=[2,5,5] ConstantLR' LinearLR',start_factor=0.5,total_iters=7 "
     "ExponentialLR',gamma=0.9 PolynomialLR',total_iters=6,power=2 CosineAnnealingLR',T_max=5 CosineAnnealingLR',T_max=9,eta_min=1e-3 "
     "CosineAnnealingWarmRestarts',T_0=2,T_mult=2 OneCycleLR',max_lr=0.1,total_steps=30 CyclicLR',base_lr=0.01,max_lr=0.1,step_size_up=3 "
     "OneCycleLR',max_lr=0.1,total_steps=30,anneal_strategy='linear',three_phase=True "
     "CyclicLR',base_lr=0.01,max_lr=0.1,step_size_up=3,step_size_down=5,mode='triangular2' LambdaLR',lr_lambda=lambda_ "
     "MultiplicativeLR',lr_lambda=lambda_ ReduceLROnPlateau',patience=0,threshold=0.5"),
    ("rates(lambda s, o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)], [4]))",),
    ("rates(lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)]))",),
    ("clipped({})", "1.0 1.0,1 0.3,float('inf') 1e9"),
    # ---- what differed silently, or raised where PyTorch does not ----
    ("F.rms_norm(torch.full((4,), 0.01, dtype=torch.{}), (4,))", "bfloat16 float16 float32 float64"),
    ("F.{}(c(2, 4).half() * 300, (4,))", "layer_norm rms_norm"),
    ("F.group_norm(c(2, 4, 3).half() * 200, 2)",),
    ("F.adaptive_max_pool2d(r(1, 5, 5), 2, True)",),
    ("F.adaptive_max_pool2d(torch.ones(1, 2, 5, 5), (3, 2), return_indices=True)",),
    ("F.adaptive_max_pool2d(r(2, 2, 4, 6), 2, return_indices=True)",),
    ("F.adaptive_max_pool1d(r(1, 2, 7), 3, return_indices=True)",),
    ("F.adaptive_max_pool3d(r(1, 4, 5, 3), 2, return_indices=True)",),
    ("m(nn.AdaptiveMaxPool2d(2, return_indices=True))(r(1, 5, 5))",),
    ("F.max_pool2d(k(9, 1, 4, 4) - 9, 3, 2, 1)",),
    ("F.avg_pool1d(k(90, 2, 7), 3, 2, 1)",),
    ("F.avg_pool2d(k(90, 1, 5, 7) - 40, 3, 2, 1, divisor_override={})", "None 4"),
    ("F.pad(r(1, 1, 5), {}, mode='circular')", "(-1,2) (2,-2) (-1,-2) (3,1)"),
    ("F.pad(r(1, 1, 5), {}, mode='reflect')", "(-1,2) (2,-1)"),
    ("F.pad(r(0, 2, 3), (1, 2))",),
    ("F.avg_pool1d(r(0, 2, 6), 2, padding=1)",),
    ("F.unfold(r(0, 1, 4, 4), 2)",),
    ("F.group_norm(r(0, 4, 2), 2)",),
    ("F.interpolate(k(256, 1, 2, 4, 5).to(torch.uint8), size=(7, 3), mode='{}')", "nearest bilinear bicubic nearest-exact"),
    ("F.interpolate(k(256, 1, 2, 4, 5).to(torch.uint8), size=(7, 3), mode='{}', antialias=True)", "bilinear bicubic"),
    ("F.interpolate(r(1, 2, 5, 4), size=(8, 3), mode='{}')", "bicubic nearest-exact bilinear"),
    ("F.interpolate(r(1, 2, 5, 4), scale_factor=(1.7, 0.6), mode='bicubic', align_corners={})", "True False"),
    ("F.interpolate(r(1, 2, 6, 7), size=(3, 9), mode='{}', antialias=True)", "bilinear bicubic"),
    ("F.interpolate(r(1, 2, 7), scale_factor=1.6, mode='nearest-exact')",),
    ("F.grid_sample(r(2, 2, 4, 3), r(2, 2, 3, 2) * 1.3, mode='bicubic', padding_mode='{}')", "zeros border reflection"),
    ("F.grid_sample(r(2, 2, 4, 3), r(2, 2, 3, 2) * 1.3, mode='bicubic', align_corners=True)",),
    ("F.grid_sample(c(1, 1, 3, 3), r(1, 2, 2, 2), mode='nearest')",),
    ("F.conv_transpose2d(r(1, 2, 4, 4), r(2, 2, 3, 3), None, 2, {}, 3, 1, 4)", "0 1 2"),
    ("F.conv_transpose1d(r(1, 2, 4), r(2, 2, 3), None, 1, 0, 2, 1, 4)",),
    ("F.hardtanh(k(9, 4) - 4, -1.0, 2.0)",),
    ("F.bilinear(k(5, 2, 3), k(5, 2, 4), k(5, 2, 3, 4))",),
    ("F.cosine_embedding_loss(r(3, 4) * 1e-7, r(3, 4), torch.ones(3))",),
    ("F.hinge_embedding_loss(r(3, 4), k(4, 3, 4) - 1)",),
    ("F.multi_margin_loss(r(1)[0], k(1, 1)[0])",),
    ("F.multilabel_margin_loss(r(1)[0], k(1, 1)[0])",),
    ("m(nn.MultiheadAttention(4, 2, add_bias_kv=True))(r(3, 2, 4), r(5, 2, 4), r(5, 2, 4))",),
    ("m(nn.MultiheadAttention(4, 2, add_zero_attn=True, add_bias_kv=True))(r(3, 2, 4), r(5, 2, 4), r(5, 2, 4), "
     "key_padding_mask=b(2, 5), attn_mask=b(3, 5))",),
]


def cases():
    """Every expression of the table."""
    for row in CASES:
        if len(row) == 1:
            yield row[0]
        for word in row[1].split() if len(row) > 1 else ():
            yield row[0].format("" if word == "," else word) if "{!r}" in row[0] else row[0].replace("{}", "" if word == "," else word)
